import type { Parameters } from '../shared/n8n/parameters';
import type { WaitSettings } from './campaignWait';
import { isUnset } from '../shared/calls/callRequestFields';
import { InvalidInput } from '../shared/api/errors';
import { parseContactListId, parseCount } from '../shared/api/identifiers';

const SHORTEST_INTERVAL_S = 5;

export type Wait = WaitSettings & { stopAtLimit: boolean };

/** How to wait for one item; `undefined` where it is read once. */
export function readWait(parameters: Parameters, index: number): Wait | undefined {
	if (!parameters.boolean('waitUntilCompleted', index)) return undefined;
	const listId = parameters.value('campaignUploadId', index);
	return {
		intervalMs: 1000 * interval(parameters.value('waitInterval', index)),
		limitMs: 60_000 * limit(parameters.value('waitLimit', index)),
		contactListId: isUnset(listId) ? undefined : parseContactListId(listId),
		waitWhileStopped: parameters.record('options', index).waitWhileStopped === true,
		stopAtLimit: parameters.value('onTimeLimit', index) === 'stop',
	};
}

function interval(value: unknown): number {
	const todo = `Enter the seconds between two looks at the campaign, at least ${SHORTEST_INTERVAL_S}.`;
	const seconds = parseCount(value, 'Check Every', todo);
	if (seconds >= SHORTEST_INTERVAL_S) return seconds;
	throw new InvalidInput(`Check Every is ${seconds} seconds, which is too short`, todo);
}

function limit(value: unknown): number {
	return parseCount(value, 'Time Limit', 'Enter the minutes after which the wait ends.');
}
