import type { JsonObject, JsonValue } from '../../shared/json';
import type { FeedOutcome } from './feed';
import { countRows } from './report';

const COUNTS = [
	'contacts_received',
	'contacts_accepted',
	'duplicates_removed',
	'queued_calls',
] as const;
const LISTS = ['engine_skipped_duplicates', 'dnd_skipped'] as const;

/** What became of the rows, and the answers to all requests as one: counts added up, lists joined. */
export function summarize(outcome: FeedOutcome): JsonObject {
	const summary: JsonObject = {
		feed: countRows(outcome),
		campaign_upload_ids: valuesOf(outcome, 'campaign_upload_id'),
		enqueued:
			outcome.pushed.length > 0 && outcome.pushed.every(({ answer }) => answer.enqueued === true),
	};
	for (const field of COUNTS) summary[field] = sum(valuesOf(outcome, field));
	for (const field of LISTS) summary[field] = joined(outcome, field);
	return { ...summary, warnings: unique(joined(outcome, 'warnings')) };
}

/** The members of a list in all answers. */
export function joined(outcome: FeedOutcome, field: string): JsonValue[] {
	return valuesOf(outcome, field).flatMap((list) => (Array.isArray(list) ? list : []));
}

/** Each request of a feed to a paused campaign gives the same warning. */
export function unique(values: readonly JsonValue[]): JsonValue[] {
	return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function valuesOf({ pushed }: FeedOutcome, field: string): JsonValue[] {
	return pushed.map(({ answer }) => answer[field]).filter((value) => value !== undefined);
}

function sum(values: readonly JsonValue[]): number {
	return values.reduce<number>(
		(total, value) => total + (typeof value === 'number' ? value : 0),
		0,
	);
}
