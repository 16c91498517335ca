import compact from 'lodash/compact';
import countBy from 'lodash/countBy';
import get from 'lodash/get';
import isEmpty from 'lodash/isEmpty';
import min from 'lodash/min';
import { DateTime } from 'luxon';
import type { INodeExecutionData } from 'n8n-workflow';
import { dayAndTime } from '../shared/dates';
import { counted } from '../shared/values';
import { dueTimes } from './callTime';
import { DUPLICATE, NOT_PLACED_TEXTS } from './notPlaced';
import { CALL_AGAIN } from './sameCalls';

const FAILED = 'failed';

/** A person who corrects an item would execute the node with all of them. */
const ONLY_FAILED_AGAIN =
	'Correct and execute only the failed items, because the others may be called again.';

/** A call that is due within a minute rings now. */
const SOON_MS = 60_000;

type HintOptions = {
	/** Whether the calls ask a question. */
	asks: boolean;
	/** In the workflow's time zone. */
	now: DateTime;
};

/** Hints about the output: which calls weren't placed, and which are scheduled. */
export function outputHints(
	items: readonly INodeExecutionData[],
	{ asks, now }: HintOptions,
): string[] {
	// For questions, n8n's own hint says that only the first item is used.
	const isSummed = asks && items.length > 1;
	return compact([summaryOf(items, isSummed), scheduledCalls(items, now)]);
}

/** A hint such as "4 items: 1 call placed, 3 failed". By default, only if not all calls were placed. */
function summaryOf(items: readonly INodeExecutionData[], isAlways: boolean): string | undefined {
	const reasons = items.map(({ json }) => {
		if (json.placed === true) return undefined;
		if (json.error === undefined || json.placed === false) {
			const text = NOT_PLACED_TEXTS.get(json.not_placed_reason);
			return text && `not placed (${text})`;
		}
		return get(json, 'details.outcome') === 'unknown' ? 'with an unknown outcome' : FAILED;
	});
	const counts = countBy(reasons.filter((reason) => reason !== undefined));
	if (isEmpty(counts) && !isAlways) return undefined;
	const others = Object.entries(counts).map(([reason, count]) => `${count} ${reason}`);
	const placed = reasons.filter((reason) => reason === undefined).length;
	const all = [`${counted(placed, 'call')} placed`, ...others].join(', ');
	const hasDuplicate = items.some(({ json }) => json.not_placed_reason === DUPLICATE);
	return compact([
		`${counted(items.length, 'item')}: ${all}.`,
		placed > 0 && counts[FAILED] !== undefined && ONLY_FAILED_AGAIN,
		hasDuplicate && CALL_AGAIN,
	]).join(' ');
}

/** A hint, because nobody's phone rings now, and a person would execute the node again. */
function scheduledCalls(items: readonly INodeExecutionData[], now: DateTime): string | undefined {
	const placed = items.filter(({ json }) => json.placed === true);
	const times = dueTimes(placed).filter((due) => due > now.toMillis() + SOON_MS);
	const first = min(times);
	if (first === undefined) return undefined;
	const when = dayAndTime(DateTime.fromMillis(first, { zone: now.zone }));
	const calls =
		times.length === 1
			? `1 call is scheduled for ${when}`
			: `${times.length} calls are scheduled, the first one for ${when}`;
	return `${calls}. Executing this node again may place more calls.`;
}
