import type { Dialect } from '../dialects';
import type { JsonObject } from '../json';
import type { Agent } from '../state/types';

export interface SimulatorResponse {
	status: number;
	body: unknown;
	headers?: Record<string, string>;
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
export function invalid(dialect: Dialect, problems: string[], status?: number): SimulatorResponse {
	return response(status ?? dialect.validation.status, dialect.validation.body(problems));
}

export const agentNotFound = (dialect: Dialect): SimulatorResponse =>
	rejected(dialect.statuses.agentNotFound, 'agent_not_found');

export const callNotFound = (dialect: Dialect): SimulatorResponse =>
	rejected(dialect.statuses.callNotFound, 'call_not_found');

export const campaignNotFound = (dialect: Dialect): SimulatorResponse =>
	rejected(dialect.statuses.campaignNotFound, "Couldn't find Campaign");

/** The rejection of an agent without an outbound number. Undefined if it has one. */
export function numberMissing(dialect: Dialect, agent: Agent): SimulatorResponse | undefined {
	if (agent.number !== null) return undefined;
	return rejected(dialect.statuses.noOutboundNumber, dialect.calls.noNumberText, {
		error_code: 'NO_OUTBOUND_NUMBER_CONFIGURED',
		action: 'attach_number',
	});
}
