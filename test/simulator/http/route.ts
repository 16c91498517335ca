import get from 'lodash/get';
import type { JsonObject } from '../json';
import type { Dialect, Field } from '../dialects/forms';
import type { Simulator } from '../simulator';
import type { Agent } from '../state/state';

export interface SimulatorRequest {
	method: string;
	/** Without the query. */
	path: string;
	params: Record<string, string>;
	query: Record<string, string>;
	headers: Record<string, string | string[] | undefined>;
	/** The parsed body. Undefined if there was none. */
	body: unknown;
}

export interface SimulatorResponse {
	status: number;
	body: unknown;
	headers?: Record<string, string>;
}

export type Handler = (
	sim: Simulator,
	request: SimulatorRequest,
) => SimulatorResponse | Promise<SimulatorResponse>;

/** Handlers by name. */
export type Routes = { [name: string]: Handler };

export function bytesOf(body: unknown): Buffer {
	if (Buffer.isBuffer(body)) return body;
	return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

export const response = (status: number, body: unknown): SimulatorResponse => ({ status, body });

export const ok = (data: unknown): SimulatorResponse => response(200, { success: true, data });

export function rejected(
	status: number,
	error: string,
	details: JsonObject | null = null,
): SimulatorResponse {
	return response(status, { success: false, error, details });
}

/** A validation error. `status` if the document gives it, otherwise that of the dialect. */
export function invalid(
	{ dialect: { validation } }: Simulator,
	problems: string[],
	status: number = validation.status,
): SimulatorResponse {
	return response(status, validation.body(problems));
}

/** Documented errors whose status isn't documented. */
const ERRORS = {
	agentNotFound: 'agent_not_found',
	callNotFound: 'call_not_found',
	campaignNotFound: "Couldn't find Campaign",
	recordingNotAvailable: 'recording_not_available',
	notOnDndList: 'Phone number not found on DND list',
} satisfies { [error in keyof Dialect['statuses']]?: string };

export function notFound({ dialect }: Simulator, error: keyof typeof ERRORS): SimulatorResponse {
	return rejected(dialect.statuses[error], ERRORS[error]);
}

/** The rejection of an agent without an outbound number. Undefined if it has one. */
export function numberMissing({ dialect }: Simulator, agent: Agent): SimulatorResponse | undefined {
	if (agent.number !== null) return undefined;
	const error = 'Please attach an outbound number to this agent before placing calls';
	return rejected(dialect.statuses.noOutboundNumber, error, {
		error_code: 'NO_OUTBOUND_NUMBER_CONFIGURED',
		action: 'attach_number',
	});
}

/** A value of a request. In a body, dots in the name nest. */
export function placed({ query, body }: SimulatorRequest, field: Field): unknown {
	return field.in === 'query' ? query[field.name] : get(body, field.name.split('.'));
}
