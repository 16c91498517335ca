import type { NodeParameters } from '../shared/n8n/nodeParameters';
import { RESULT_TIMEOUT_MS } from '../shared/chat/timings';

/** *Time Limit for the Reply* of the Options collection. */
export function replyTimeLimitMs(parameters: NodeParameters, index: number): number {
	const seconds = Number(parameters.record('options', index).replyTimeLimit ?? NaN);
	return seconds > 0 ? seconds * 1000 : RESULT_TIMEOUT_MS;
}
