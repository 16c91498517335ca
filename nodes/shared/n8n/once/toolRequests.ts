import partition from 'lodash/partition';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { BoundedMap } from '../../boundedMap';
import { noteCompleted } from '../tools/toolRun';
import { type PreparedRequest, type Quota, QuotaExceeded } from './preparedRequest';
import { type RequestRecords, nameOf, recordKey } from './requestRecord';

/** Tool requests to keep in a long MCP session: this many completed ones, and this many others. */
const MAX_TOOL_REQUESTS = 1_000;

type ToolRequests = {
	/** The latest request by key. */
	inFlight: Map<string, { toolRequest: string; result: Promise<INodeExecutionData[]> }>;
	/** Completions by request, in this process. *Retry* starts from zero. */
	completedCounts: BoundedMap<number>;
};

const toolRequests = new WeakMap<RequestRecords, ToolRequests>();

/**
 * Sends the request of a model once in one agent run or MCP session. The same request again gets the same result, also
 * while it's in flight. Different ones to the same target are sent one after another, if they can undo each other.
 *
 * @param send sends the request with this key, or replays its stored result
 */
export async function sendForModel<Deps>(
	context: IExecuteFunctions,
	records: RequestRecords,
	{ payload, target, modelMayRepeat }: PreparedRequest<Deps>,
	send: (key: string, toolRequest: string) => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
	const accounts = Object.values(context.getNode().credentials ?? {}).map(({ id }) => id);
	const toolRequest = nameOf([accounts, payload]);
	const name = modelMayRepeat === 'afterOtherRequest' ? nameOf([accounts, target]) : toolRequest;
	const repeatable = modelMayRepeat === 'afterCompletion';
	const known: ToolRequests = toolRequests.get(records) ?? {
		inFlight: new Map(),
		completedCounts: new BoundedMap(MAX_TOOL_REQUESTS),
	};
	toolRequests.set(records, known);
	const { inFlight, completedCounts } = known;
	const latest = inFlight.get(name);
	if (latest?.toolRequest === toolRequest) {
		const output = await latest.result;
		noteCompleted(context, { output, isReplay: true, repeatable });
		return output;
	}
	const result = Promise.allSettled([latest?.result]).then(async () => {
		const occurrence = repeatable ? (completedCounts.get(toolRequest) ?? 0) : 0;
		const key = recordKey(name, occurrence);
		const earlier = records[key];
		const isReplay = earlier?.tool_request === toolRequest && 'completed' in earlier;
		const output = await send(key, toolRequest);
		if (repeatable) completedCounts.set(toolRequest, occurrence + 1);
		noteCompleted(context, { output, isReplay, repeatable });
		return output;
	});
	const own = { toolRequest, result };
	inFlight.set(name, own);
	try {
		return await result;
	} finally {
		if (inFlight.get(name) === own) inFlight.delete(name);
		evictOldest(records);
	}
}

/**
 * Rejected and unsent requests have no record, so they don't count.
 *
 * @throws QuotaExceeded if the run has used it up
 */
export function requireQuota(records: RequestRecords, quota: Quota): void {
	const used = Object.values(records).filter(({ unit }) => unit === quota.unit);
	if (used.length >= quota.max) throw new QuotaExceeded(quota);
}

/** Limits completed records and others separately, so that neither kind evicts the other. */
function evictOldest(records: RequestRecords): void {
	const isCompleted = (key: string) => 'completed' in (records[key] ?? {});
	for (const group of partition(Object.keys(records), isCompleted)) {
		const [oldest] = group;
		if (group.length > MAX_TOOL_REQUESTS && oldest !== undefined) {
			Reflect.deleteProperty(records, oldest);
		}
	}
}
