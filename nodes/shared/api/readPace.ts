import { deferred, pause, type Clock, type Deferred } from '../clock';
import { onScreenOnly } from './modelAdvice';
import { NotSent } from './errors';

/** So many reads that the service takes let one more be in flight. */
const TAKEN_PER_STEP = 10;

/**
 * Slows the reads of one client down when the service responds that it receives too many (429): then they are sent one
 * at a time, and none before the service wants more. While it takes them, more and more are in flight again. So reads
 * at the same time get as far as reads one after another. If one of them has waited in vain, the others are tried once.
 */
export class ReadPace {
	private maxInFlight = Infinity;
	private inFlight = 0;
	private taken = 0;
	/** By the elapsed time. */
	private opensAt = -Infinity;
	private hasGivenUp = false;
	private readonly waiting = new Set<Deferred<void>>();

	constructor(private readonly clock: Clock) {}

	/**
	 * @param signal aborted when nobody wants the response any more
	 * @returns what came, and whether nothing else was in flight meanwhile
	 * @throws NotSent if the signal aborts before it is sent
	 */
	async send<Result>(
		send: () => Promise<Result>,
		signal?: AbortSignal,
	): Promise<{ result: Result; wasAlone: boolean }> {
		// Not awaited in between: another would take the place.
		while (this.inFlight >= this.maxInFlight) await this.nextPlace(signal);
		const wasFirst = this.inFlight++ === 0;
		try {
			await this.untilOpen(signal);
			const result = await send();
			return { result, wasAlone: wasFirst && this.inFlight === 1 };
		} finally {
			this.inFlight--;
			this.admit();
		}
	}

	/** The service took no read. @returns whether it is worth waiting for */
	slowDown(waitMs: number | undefined): boolean {
		this.maxInFlight = 1;
		this.taken = 0;
		// Waiting once in vain is enough: else thousands of reads would each wait as long.
		this.hasGivenUp ||= waitMs === undefined;
		const opensAt = this.clock.elapsed() + (waitMs ?? 0);
		this.opensAt = this.hasGivenUp ? -Infinity : Math.max(this.opensAt, opensAt);
		return !this.hasGivenUp;
	}

	/** The service took a read. */
	speedUp(): void {
		this.hasGivenUp = false;
		if (++this.taken < TAKEN_PER_STEP) return;
		this.taken = 0;
		this.maxInFlight++;
		this.admit();
	}

	private async nextPlace(signal: AbortSignal | undefined): Promise<void> {
		if (isAborted(signal)) throw notSent();
		const place: Deferred<void> = deferred();
		const giveUp = () => place.resolve();
		this.waiting.add(place);
		signal?.addEventListener('abort', giveUp, { once: true });
		await place.promise;
		signal?.removeEventListener('abort', giveUp);
		this.waiting.delete(place);
		if (!isAborted(signal)) return;
		// The place that was offered, if one was, is for the next.
		this.admit();
		throw notSent();
	}

	private admit(): void {
		const [first] = this.waiting;
		if (first === undefined || this.inFlight >= this.maxInFlight) return;
		this.waiting.delete(first);
		first.resolve();
	}

	private async untilOpen(signal: AbortSignal | undefined): Promise<void> {
		const ms = this.opensAt - this.clock.elapsed();
		if (ms <= 0) return;
		if (!(await pause(this.clock, ms, signal ?? new AbortController().signal))) throw notSent();
	}
}

function isAborted(signal: AbortSignal | undefined): boolean {
	return signal?.aborted === true;
}

function notSent(): NotSent {
	return new NotSent(
		'The request was not sent: it waited for a service that receives too many requests, until nobody wanted the response any more',
		onScreenOnly('Run this again later.'),
	);
}
