export type FaultKind =
	| 'latency'
	| 'resetBefore'
	| 'resetMiddle'
	| 'resetAfter'
	| 'status'
	| 'tooManyRequests'
	| 'html'
	| 'truncatedJson'
	| 'successFalseAt200'
	| 'rejectingWords'
	| 'wrongCounts'
	| 'redirect'
	| 'redirectLoop'
	| 'cutGzip'
	| 'cutWithoutLength'
	| 'hugeBody'
	| 'hang';

export interface Fault {
	kind: FaultKind;
	/** Which requests; a string is the whole path, without query. All when left out. */
	match?: { method?: string; path?: RegExp | string };
	/** How many requests it hits; without end when left out. */
	times?: number;
	/** How many matching requests go through untouched first. */
	skip?: number;
	/** The request takes effect first; truncatedJson, resetMiddle, resetAfter, rejectingWords, wrongCounts, cutGzip and cutWithoutLength always do. */
	afterHandling?: boolean;
	status?: number;
	retryAfterSeconds?: number;
	latencyMs?: number;
	/** Body of the answer; the address for a redirect; of wrongCounts the counts, which replace those of `data`. */
	body?: unknown;
}

interface Armed extends Fault {
	left: number;
	toSkip: number;
}

const ALWAYS_HANDLED: ReadonlySet<FaultKind> = new Set([
	'latency',
	'resetMiddle',
	'resetAfter',
	'truncatedJson',
	'rejectingWords',
	'wrongCounts',
	'cutGzip',
	'cutWithoutLength',
]);

export function takesEffect(fault: Fault): boolean {
	return ALWAYS_HANDLED.has(fault.kind) || fault.afterHandling === true;
}

export class Faults {
	private armed: Armed[] = [];

	inject(fault: Fault): void {
		this.armed.push({ ...fault, left: fault.times ?? Infinity, toSkip: fault.skip ?? 0 });
	}

	clear(): void {
		this.armed = [];
	}

	/** Those that still apply to later requests. */
	get pending(): readonly Fault[] {
		return this.armed;
	}

	/** The fault for this request, used up once; the first injected wins. */
	take(method: string, path: string): Fault | undefined {
		const fault = this.armed.find((candidate) => matches(candidate, method, path));
		if (!fault) return undefined;
		if (fault.toSkip > 0) {
			fault.toSkip--;
			return undefined;
		}
		fault.left--;
		if (fault.left <= 0) this.armed = this.armed.filter((other) => other !== fault);
		return fault;
	}
}

function matches({ match }: Fault, method: string, path: string): boolean {
	if (match?.method !== undefined && match.method.toUpperCase() !== method) return false;
	if (match?.path === undefined) return true;
	return typeof match.path === 'string' ? match.path === path : match.path.test(path);
}
