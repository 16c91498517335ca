import type { Dialect } from '../dialects';
import type { JsonObject } from '../json';
import type { Agent } from '../state/types';

export interface Answer {
	status: number;
	body: unknown;
	headers?: Record<string, string>;
}

export const answer = (status: number, body: unknown): Answer => ({ status, body });

export const ok = (data: unknown): Answer => answer(200, { success: true, data });

export function rejected(status: number, error: string, details: JsonObject | null = null): Answer {
	return answer(status, { success: false, error, details });
}

/** Validation outside call placement; where `status` is given the document fixes it. */
export function invalid(dialect: Dialect, problems: string[], status?: number): Answer {
	return answer(status ?? dialect.validation.status, dialect.validation.body(problems));
}

export const agentNotFound = (dialect: Dialect): Answer =>
	rejected(dialect.statuses.agentNotFound, 'agent_not_found');

export const callNotFound = (dialect: Dialect): Answer =>
	rejected(dialect.statuses.callNotFound, 'call_not_found');

export const campaignNotFound = (dialect: Dialect): Answer =>
	rejected(dialect.statuses.campaignNotFound, "Couldn't find Campaign");

/** The answer for an agent without an outbound number; nothing where it has one. */
export function numberMissing(dialect: Dialect, agent: Agent): Answer | undefined {
	if (agent.number !== null) return undefined;
	return rejected(dialect.statuses.noOutboundNumber, dialect.calls.noNumberText, {
		error_code: 'NO_OUTBOUND_NUMBER_CONFIGURED',
		action: 'attach_number',
	});
}
