import type { FaultKind } from './faults';

export interface Outcome {
	/** HTTP status of the response. Undefined while it is in progress, or if none was sent. */
	status?: number;
	/** The `error` text of a rejection, at any status. */
	error?: string;
	fault?: FaultKind;
	/** The beginning of the response body, if the simulator keeps it. */
	responseText?: string;
}

export interface RecordedRequest {
	method: string;
	path: string;
	query: Record<string, string>;
	headers: Record<string, string | string[] | undefined>;
	/** The parsed body. Undefined if bodies are not kept. */
	body?: unknown;
	at: number;
	outcome: Outcome;
}

/** Every received request, and the number of requests in flight. */
export class RequestLog {
	readonly requests: RecordedRequest[] = [];
	private active = 0;
	private count = 0;
	private maxActive = 0;

	constructor(private readonly keepBodies: boolean) {}

	open({ body, ...request }: RecordedRequest): RecordedRequest {
		const recorded = this.keepBodies && body !== undefined ? { ...request, body } : request;
		this.requests.push(recorded);
		return recorded;
	}

	started(): void {
		this.count++;
		this.maxActive = Math.max(this.maxActive, ++this.active);
	}

	ended(): void {
		this.active--;
	}

	/** The number of requests, and how many were in flight at the same time at most. */
	stats() {
		return { requests: this.count, maxActive: this.maxActive };
	}

	reset(): void {
		this.requests.length = 0;
		this.count = 0;
		this.maxActive = this.active;
	}
}
