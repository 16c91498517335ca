import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

const gc: unknown = runInNewContext('gc');

export function collectGarbage(): void {
	if (typeof gc === 'function') Reflect.apply(gc, undefined, []);
}

/** Bytes of the heap in use after a garbage collection. */
export function heapInUse(): number {
	collectGarbage();
	return process.memoryUsage().heapUsed;
}
