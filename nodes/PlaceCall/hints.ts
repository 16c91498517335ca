import type { INodeExecutionData } from 'n8n-workflow';
import { counted } from '../shared/values';

/**
 * How many calls were placed, such as "4 items: 1 call placed.", and where to look for the others.
 *
 * @param isAlways also if all of them were placed
 */
export function placedHint(
	items: readonly INodeExecutionData[],
	isAlways: boolean,
): string | undefined {
	const placed = items.filter(({ json }) => json.placed === true).length;
	const count = `${counted(items.length, 'item')}: ${counted(placed, 'call')} placed.`;
	if (placed === items.length) return isAlways ? count : undefined;
	return `${count} The output says what happened to the other items. If you execute this node again, people who were called may be called again.`;
}
