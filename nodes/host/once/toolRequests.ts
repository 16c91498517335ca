import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NotSent } from '../../core/service/errors';
import { BoundedMap } from '../../core/values/boundedMap';
import { KeyedMutex } from '../../core/values/keyedMutex';
import { callerOf } from '../caller/caller';
import type { PreparedRequest } from './preparedRequest';
import { type RequestRecords, hashOf } from './requestRecord';

/** Tool requests to keep in a long MCP session. */
const MAX_TOOL_REQUESTS = 5_000;

/** What this process knows of the tool requests of one agent run or MCP session. */
class ToolRequests {
	readonly mutex = new KeyedMutex();
	/** Completions by request. *Retry* starts from zero. */
	readonly completedCounts = new BoundedMap<number>(MAX_TOOL_REQUESTS);
	/** Requests that a person approved, by their ID. n8n repeats them for each row of the agent's input. */
	readonly approved = new BoundedMap<true>(MAX_TOOL_REQUESTS);
}

const toolRequests = new WeakMap<RequestRecords, ToolRequests>();

/**
 * Sends the request of a model once in one agent run or MCP session. The same request again gets the same result, also if it
 * comes before that. Different ones to the same target are sent one after another, if they can undo each other.
 *
 * @param send sends the request with this key, or replays its stored result
 */
export async function sendForModel<Deps>(
	context: IExecuteFunctions,
	records: RequestRecords,
	{ payload, target, modelMayRepeat, happened, nextStep }: PreparedRequest<Deps>,
	send: (key: string, toolRequest: string) => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
	const accounts = Object.values(context.getNode().credentials ?? {}).map(({ id }) => id);
	const toolRequest = hashOf([accounts, payload]);
	const name = modelMayRepeat === 'afterOtherRequest' ? hashOf([accounts, target]) : toolRequest;
	const repeatable = modelMayRepeat === 'afterCompletion';
	const known = toolRequests.get(records) ?? new ToolRequests();
	toolRequests.set(records, known);
	const { mutex, completedCounts, approved } = known;
	const { agent, result } = callerOf(context);
	const isReviewed = agent?.isReviewed === true;
	const approval = isReviewed ? hashOf([agent.toolCallId, toolRequest]) : undefined;
	// Before it waits, so that a request that comes again while it's in flight is the same one.
	const occurrence = repeatable ? (completedCounts.get(toolRequest) ?? 0) : 0;
	const key = `${name}#${occurrence}`;
	return await mutex.runExclusive(name, async () => {
		const earlier = records[key];
		const isReplay = earlier?.tool_request === toolRequest && 'completed' in earlier;
		if (approval !== undefined && approved.has(approval)) throw repeatedByN8n();
		try {
			const output = await send(key, toolRequest);
			if (approval !== undefined) approved.set(approval, true);
			if (repeatable) completedCounts.set(toolRequest, occurrence + 1);
			result.setCompleted({
				...{ output, isReplay, repeatable },
				happened: happened(output),
				nextStep: nextStep?.(output),
			});
			return output;
		} finally {
			evictOldest(records);
		}
	});
}

function repeatedByN8n(): NotSent {
	return new NotSent(
		"n8n repeats an approved request for each row of the agent's input. This one was done once, and not again",
		{
			onScreen: '',
			forModel:
				'Ignore this result, unless it is about your own request. Do not repeat the request.',
		},
		{ isTransient: false, isFinal: true },
	);
}

function evictOldest(records: RequestRecords): void {
	const [oldest = '', ...others] = Object.keys(records);
	if (others.length >= MAX_TOOL_REQUESTS) Reflect.deleteProperty(records, oldest);
}
