import { aborted, deferred, type Deferred } from '../clock';

/** Lets one in at a time, in the order of asking. */
export class TurnQueue {
	private last: Promise<void> = Promise.resolve();

	/**
	 * Waits for its turn and returns what ends it. Whoever is aborted while waiting gets no turn but goes on at once; the
	 * others keep their order.
	 */
	async enter(signal: AbortSignal): Promise<() => void> {
		const before = this.last;
		const mine: Deferred<void> = deferred();
		this.last = before.then(async () => await mine.promise);
		await Promise.race([before, aborted(signal)]);
		return () => mine.resolve();
	}
}
