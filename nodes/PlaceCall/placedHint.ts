import compact from 'lodash/compact';
import countBy from 'lodash/countBy';
import minBy from 'lodash/minBy';
import uniq from 'lodash/uniq';
import { DateTime } from 'luxon';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { dayAndTime } from '../core/values/dates';
import { type Explanation, onScreenOnly } from '../core/service/resolution';
import { counted, plainText } from '../core/values/values';
import type { NotPlacedReason } from './notPlaced';
import { isUnknown } from './oncePerPerson';

const REASONS: Record<NotPlacedReason['not_placed_reason'], string> = {
	outside_calling_hours: 'outside the calling hours',
	call_limit_reached: 'over the limit of calls',
	duplicate_number: 'with the number of another item',
	check_only: 'would be called',
};

/**
 * What happened to the items, such as "4 items: 1 called, 2 outside the calling hours, 1 couldn't be called."
 *
 * @param isAlways also if all of them were called
 * @param allowsAnother whether people who were called can be called again
 */
export function placedHint(
	items: readonly INodeExecutionData[],
	isAlways: boolean,
	allowsAnother: boolean,
): Explanation | undefined {
	const counts = countBy(items, ({ json }) => happenedTo(json));
	const { called = 0, scheduled = 0, unknown = 0, failed = 0 } = counts;
	if (called === items.length && !isAlways) return undefined;
	const parts = compact([
		called > 0 && `${called} called`,
		scheduled > 0 && `${scheduled} ${scheduledText(items)}`,
		...Object.entries(REASONS).map(([reason, text]) => {
			const count = counts[reason] ?? 0;
			return count > 0 && `${count} ${text}`;
		}),
		unknown > 0 && `${unknown} may have been called`,
		failed > 0 && `${failed} couldn't be called`,
	]);
	const message = `${counted(items.length, 'item')}: ${parts.join(', ')}`;
	const each = 'The output has one item for each.';
	const again = 'If you execute this node again, people who were called may be called again.';
	const isNobody = called + scheduled + unknown === 0;
	const texts = [
		isNobody && 'Nobody was called in this run.',
		each,
		!isNobody && allowsAnother && again,
	];
	const resolution = called === items.length ? '' : compact(texts).join(' ');
	return { message, resolution: onScreenOnly(resolution) };
}

function happenedTo(json: IDataObject): string {
	if (json.placed === true) return json.scheduled_for === undefined ? 'called' : 'scheduled';
	if (json.placed === false) return plainText(json.not_placed_reason);
	return isUnknown(json) ? 'unknown' : 'failed';
}

/** The first of the scheduled times. Without a day, which only the service may know, as it was entered. */
function scheduledText(items: readonly INodeExecutionData[]): string {
	const times = uniq(compact(items.map(({ json }) => plainText(json.scheduled_for))));
	const days = times.filter((time) => time.includes('T'));
	const first = minBy(
		days.map((time) => DateTime.fromISO(time, { setZone: true })),
		(time) => time.toMillis(),
	);
	const shown = first === undefined ? (times[0] ?? '') : dayAndTime(first);
	return `scheduled${times.length > 1 ? ', the first' : ''} for ${shown}`;
}
