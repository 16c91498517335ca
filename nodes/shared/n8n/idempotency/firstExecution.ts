/** Adds texts to a stored set and returns the new ones. A simultaneous write by another process may undo it. */
export type RecordKeys = (texts: string[]) => Promise<string[]>;

/** Enough for simultaneous writes, and for a database that is unavailable for some seconds. */
const MAX_READS = 10;

/**
 * Whether this execution is the first with the key, in all processes. n8n gives nodes no lock, and reads and writes the
 * set as a whole, so the later of two simultaneous writes undoes the other. Therefore each execution reads the set
 * again after a pause. If it has the key with the execution's own mark, the execution is the first. If it has only the
 * key, it isn't. If it has neither, the execution adds both again. This works if writes take much less time than the
 * pause.
 *
 * @param claimant identifies the execution
 * @throws Error if n8n can't record the key
 */
export async function isFirstExecution(
	record: RecordKeys,
	key: string,
	claimant: string,
	pause: () => Promise<void>,
): Promise<boolean> {
	const mark = `${key} ${claimant}`;
	let lastFailure: unknown = 'other executions keep overwriting the record';
	for (let attempt = 0; attempt < MAX_READS; attempt++) {
		if (attempt > 0) await pause();
		try {
			const added = await record([key, mark]);
			if (!added.includes(key)) return !added.includes(mark);
		} catch (error) {
			lastFailure = error;
		}
	}
	throw new Error(`n8n couldn't record the event of this execution: ${String(lastFailure)}`);
}
