import { shortFingerprint } from '../../hash';
import type { ExecutionOrigin } from './executionOrigin';

/** 72 bits. */
const NAME_LENGTH = 12;

/**
 * What the write-ahead log stores for one attempt of an execution. All attempts have the start time of the first one. A
 * retry stores its texts also with its execution ID, to tell them from earlier ones.
 */
export class LogTexts {
	/** Marks that the execution has begun any request. */
	readonly mark: readonly string[];
	/** Marks that another execution found the mark of this start. The mark must then stay, for a retry of either. */
	readonly sharedMark: string;
	/**
	 * Marks that two executions started in the same millisecond and share their numbering. The first one's entries must
	 * then stay, so that a retry finds those of the second.
	 */
	readonly sharedStart: string;
	/** A retry adds this if it found the mark of an earlier attempt. */
	readonly earlier: string;
	private readonly start: string;

	constructor(
		private readonly origin: ExecutionOrigin,
		private readonly isFirstAttempt: boolean,
	) {
		const { startedAt, executionId, isSubExecution } = origin;
		// A workflow that starts itself as a sub-workflow has the same store and start time on each level.
		this.start = isSubExecution ? `${startedAt} sub` : `${startedAt}`;
		this.mark = this.ofAttempt(`begun ${this.start}`);
		this.sharedMark = `shared mark ${this.start}`;
		this.sharedStart = `shared start ${this.start}`;
		this.earlier = `begun before ${this.start} ${executionId}`;
	}

	/** Of the request that is the nth with this target or payload. */
	request(name: string, nth: number): string[] {
		return this.ofAttempt(`request ${this.start} ${name} ${nth}`);
	}

	private ofAttempt(text: string): string[] {
		return this.isFirstAttempt ? [text] : [text, `${text} ${this.origin.executionId}`];
	}
}

/** What the entries of a request are named after: its target, and the target with the payload. */
export function namesOf(target: unknown, payload: unknown): string[] {
	const name = nameOf(target);
	return payload === target ? [name] : [name, nameOf([target, payload])];
}

function nameOf(value: unknown): string {
	return shortFingerprint(value, NAME_LENGTH);
}
