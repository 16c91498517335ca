import type { IExecuteFunctions } from 'n8n-workflow';
import type { Clock } from '../../clock';
import { type Deadline, noteToolRun, runsAsTool, toolRunOf } from './toolRun';

/**
 * Times in milliseconds. A client of the MCP Server Trigger stops waiting for a tool after 60 seconds, and the result
 * would then be lost. So every tool ends before that.
 */
export const TOOL_LIMITS = {
	/** The limit for a tool request. */
	wholeMs: 50_000,
	/** The limit for waits, such as for the end of a call. */
	waitMs: 45_000,
	/** The limit for the service's acknowledgement of a chat message. */
	ackMs: 40_000,
	/** After the limit, the time to report how far the request got. */
	graceMs: 3_000,
};

export function startDeadline(context: IExecuteFunctions, clock: Clock): Deadline {
	const { wholeMs } = TOOL_LIMITS;
	const deadline = { at: clock.elapsed() + wholeMs, signal: AbortSignal.timeout(wholeMs) };
	noteToolRun(context, { deadline });
	return deadline;
}

/** Undefined unless the node runs as a tool. */
export function deadlineOf(context: object): Deadline | undefined {
	return toolRunOf(context).deadline;
}

/** A time limit from the form, capped if the node runs as a tool. */
export function capInTools(
	context: IExecuteFunctions,
	ms: number,
	max = TOOL_LIMITS.waitMs,
): number {
	return runsAsTool(context) ? Math.min(ms, max) : ms;
}
