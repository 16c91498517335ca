import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Deadline } from '../../core/values/clock';
import { clock } from '../clock';
import { toolRowOf } from './rows';

/** A run of a node, and who asks for it. */
export type CallerRun = { context: IExecuteFunctions; caller: Caller };

/**
 * Who asks for a run of a node: a workflow, which a person built, or a model that uses the node as a tool, of an AI agent or an
 * MCP client. {@link callerOf} finds it, and nothing else decides it. The other fields are what follows from it.
 */
export type Caller = (Facts & { kind: 'workflow'; deadline?: undefined }) | Model;
export type Model = Facts & {
	kind: 'model';
	/** When the run must return. */
	deadline: Deadline;
};

/** The person who chats with the model, not the person on the phone. */
export const USER = 'the user you are chatting with';

type Facts = {
	/** Whether *On Error* can continue with an item for each error. Agents get errors in a format of their own. */
	continuesOnFail: boolean;
	/** The limit for a wait, such as for the end of a call or the acknowledgement of a chat message. A tool must return. */
	maxWaitMs: number;
	/** The rows of the input. As a tool, only the one that asks. Empty if it isn't certain which one, or if there is none. */
	inputRows: () => INodeExecutionData[];
	/**
	 * The session of an MCP client, whose requests have no execution. Empty if the MCP Server Trigger doesn't pass it on (before
	 * version 2.1, and over SSE): then a request that comes again isn't recognized.
	 */
	mcpSession?: string | undefined;
};

/**
 * Times in milliseconds. A client of the MCP Server Trigger stops waiting for a tool after 60 seconds, and the result
 * would then be lost. So every tool ends before that.
 */
export const TOOL_LIMITS = {
	/** The limit for a tool request. */
	wholeMs: 50_000,
	/** The limit for waits. */
	waitMs: 45_000,
	/** After the limit, the time to report how far the request got. */
	graceMs: 3_000,
};

/**
 * Found once in a run of the node, whose time then begins.
 *
 * The MCP Server Trigger and older agents run the node themselves. Newer agents let the engine run it like any node, and
 * only the node type shows it: n8n derives `placeCallTool` from `placeCall`.
 */
export function callerOf(context: IExecuteFunctions): Caller {
	const { type } = context.getNode();
	const isInline = isToolExecution(context);
	if (!isInline && !type.endsWith('Tool')) {
		return {
			kind: 'workflow',
			continuesOnFail: context.continueOnFail(),
			maxWaitMs: Infinity,
			inputRows: () => context.getInputData(),
		};
	}
	const row = toolRowOf(context);
	const { wholeMs, waitMs } = TOOL_LIMITS;
	return {
		kind: 'model',
		continuesOnFail: false,
		deadline: { at: clock.elapsed() + wholeMs, signal: AbortSignal.timeout(wholeMs) },
		maxWaitMs: waitMs,
		inputRows: () => [{ json: 'why' in row ? {} : row.columns }],
		mcpSession: isInline ? mcpSessionOf(context) : undefined,
	};
}

/** n8n 1 doesn't have this function. There, only the node type shows a tool. */
function isToolExecution(context: IExecuteFunctions): boolean {
	return 'isToolExecution' in context && context.isToolExecution();
}

/** Undefined for an agent, whose input is from a node. That of the MCP Server Trigger is from an HTTP request. */
function mcpSessionOf(context: IExecuteFunctions): string | undefined {
	if (context.getExecuteData().source !== null) return undefined;
	const session: unknown = context.evaluateExpression(
		'{{ $json.headers?.["mcp-session-id"] ?? "" }}',
		0,
	);
	return typeof session === 'string' ? session : '';
}
