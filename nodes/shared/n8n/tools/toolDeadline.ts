import type { IExecuteFunctions } from 'n8n-workflow';
import type { Clock } from '../../clock';
import { runsAsTool } from './toolRun';

/**
 * A client of the MCP Server Trigger gives up on a tool after 60 seconds, and then nobody is told what became
 * of it: everything ends before that.
 */
export const TOOL_LIMITS = {
	/** What takes longer is given up. */
	wholeMs: 50_000,
	/** How long something is waited for that may never come. */
	waitMs: 45_000,
	/** How long a chat message waits for the service to take it. */
	ackMs: 40_000,
	/** What is given up has a moment to say how far it came. */
	graceMs: 3_000,
};

/** When a tool must answer: `at` is in milliseconds of the clock's `elapsed()`. */
export type Deadline = { at: number; signal: AbortSignal };

const deadlines = new WeakMap<object, Deadline>();

export function startDeadline(context: IExecuteFunctions, clock: Clock): Deadline {
	const { wholeMs } = TOOL_LIMITS;
	const end = { at: clock.elapsed() + wholeMs, signal: AbortSignal.timeout(wholeMs) };
	deadlines.set(context, end);
	return end;
}

/** Of a node that runs as a tool. */
export function deadlineOf(context: object): Deadline | undefined {
	return deadlines.get(context);
}

/** A time limit of the person's, no longer than a tool may take. */
export function capInTools(
	context: IExecuteFunctions,
	ms: number,
	longest = TOOL_LIMITS.waitMs,
): number {
	return runsAsTool(context) ? Math.min(ms, longest) : ms;
}
