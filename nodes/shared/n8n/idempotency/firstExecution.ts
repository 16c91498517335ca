/** Adds texts to a lasting set, and gives back those that were not in it. Who adds at the same moment may undo it. */
export type RecordKeys = (texts: string[]) => Promise<string[]>;

/** As many looks as may meet others that claim at the same moment, or a database that is away. */
const MAX_READS = 10;

/**
 * Whether the key is this claimant's: of all that ever claim it, in whatever process, one has it. The set is read and
 * written whole, so that of two who add at the same moment the later write undoes the other. That is why each looks
 * again after a pause: who finds the own mark has the key, who finds the key alone has not, and who finds neither
 * claims again. Without a lock, which n8n gives no node, this holds as long as such writes take far less than the pause.
 */
export async function isFirstExecution(
	record: RecordKeys,
	key: string,
	claimant: string,
	pause: () => Promise<void>,
): Promise<boolean> {
	const mark = `${key} ${claimant}`;
	let trouble: unknown = 'others keep overwriting it';
	for (let look = 0; look < MAX_READS; look++) {
		if (look > 0) await pause();
		try {
			const added = await record([key, mark]);
			if (!added.includes(key)) return !added.includes(mark);
		} catch (error) {
			trouble = error;
		}
	}
	throw new Error(`n8n could not note what started this execution: ${String(trouble)}`);
}
