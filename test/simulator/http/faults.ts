/** A request with this header gets its true response, so that faults for the nodes don't change those of the test itself. */
export const WITHOUT_FAULTS = 'x-without-faults';

/** `status` responds with it, `hang` never responds, and the others reset the connection before or after the request takes effect. */
export type FaultKind = 'status' | 'hang' | 'resetBefore' | 'resetAfter';

export interface Fault {
	kind: FaultKind;
	/** The requests to which it applies. A string is a whole path, without query. Default: all. */
	match?: { method?: string; path?: RegExp | string };
	/** The number of requests to which it applies. Default: all. */
	times?: number;
	/** The number of matching requests before the first one to which it applies. */
	skip?: number;
	/** Whether the request takes effect before. Always true for `resetAfter`. */
	afterHandling?: boolean;
	/** Default: 500. */
	status?: number;
	body?: unknown;
	headers?: Record<string, string>;
}

interface Armed extends Fault {
	left: number;
	toSkip: number;
}

export function takesEffect({ kind, afterHandling }: Fault): boolean {
	return kind === 'resetAfter' || afterHandling === true;
}

export class Faults {
	private armed: Armed[] = [];

	inject(fault: Fault): void {
		this.armed.push({ ...fault, left: fault.times ?? Infinity, toSkip: fault.skip ?? 0 });
	}

	/** Responds with this status to requests to this path. */
	respond(
		path: RegExp | string,
		status: number,
		more: Pick<Fault, 'times' | 'body' | 'headers'> = {},
	): void {
		this.inject({ kind: 'status', status, match: { path }, ...more });
	}

	clear(): void {
		this.armed = [];
	}

	/** The faults for later requests. */
	get pending(): readonly Fault[] {
		return this.armed;
	}

	/** The fault for this request, which counts as used once more. The first match wins. */
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
