import type { FaultKind } from './faults';

export interface Outcome {
	/** HTTP status of the response. Undefined while it is in progress, or if none was sent. */
	status?: number;
	/** The `error` text of a rejection, at any status. */
	error?: string;
	token: 'valid' | 'missing' | 'invalid';
	fault?: FaultKind;
	/** The beginning of the response body, if the simulator keeps it. */
	responseText?: string;
	/** Bytes of a huge body that were written before the client disconnected. */
	writtenBytes?: number;
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

export interface Stats {
	requests: number;
	maxActive: number;
	newSockets: number;
}

/** Every received request, and the number of requests in flight. */
export class RequestLog {
	readonly requests: RecordedRequest[] = [];
	private active = 0;
	private figures: Stats = { requests: 0, maxActive: 0, newSockets: 0 };

	constructor(private readonly keepBodies: boolean) {}

	open(request: RecordedRequest): void {
		const { body, ...rest } = request;
		this.requests.push(this.keepBodies && body !== undefined ? request : rest);
	}

	socketOpened(): void {
		this.figures.newSockets++;
	}

	started(): void {
		this.active++;
		this.figures.requests++;
		this.figures.maxActive = Math.max(this.figures.maxActive, this.active);
	}

	ended(): void {
		this.active--;
	}

	stats(): Stats {
		return { ...this.figures };
	}

	reset(): void {
		this.requests.length = 0;
		this.figures = { requests: 0, maxActive: this.active, newSockets: 0 };
	}
}
