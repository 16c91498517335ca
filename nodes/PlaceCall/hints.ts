import type { INodeExecutionData } from 'n8n-workflow';
import { type Explanation, onScreenOnly } from '../shared/api/resolution';
import { counted } from '../shared/values';

/**
 * How many calls were placed, such as "4 items: 1 call placed.", and where to look for the others.
 *
 * @param isAlways also if all of them were placed
 */
export function placedHint(
	items: readonly INodeExecutionData[],
	isAlways: boolean,
): Explanation | undefined {
	const placed = items.filter(({ json }) => json.placed === true).length;
	const message = `${counted(items.length, 'item')}: ${counted(placed, 'call')} placed`;
	if (placed === items.length)
		return isAlways ? { message, resolution: onScreenOnly('') } : undefined;
	return {
		message,
		resolution: onScreenOnly(
			'The output says what happened to the other items. If you execute this node again, people who were called may be called again.',
		),
	};
}
