import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

export const collectGarbage: () => void = runInNewContext('gc');

/** Bytes of the heap that are in use once garbage is collected. */
export function heapInUse(): number {
	collectGarbage();
	return process.memoryUsage().heapUsed;
}
