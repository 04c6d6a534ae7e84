// The script of the thread in which a motion is simulated.

import { type Outside, simulate } from "./loop";

simulate(self as unknown as Outside);
