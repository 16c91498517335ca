import compact from 'lodash/compact';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { plainText } from '../../core/values/values';

/** n8n logs an error for a longer value. */
const MAX_CHARACTERS = 255;

const SEPARATOR = ', ';

/**
 * Adds fields of these items to n8n's custom data of the execution, by which a person finds it again: as many values of each
 * as fit, and no outcome of a call in progress. Never numbers or names, because everyone sees the list of executions.
 */
export function addCustomData(
	context: IExecuteFunctions,
	items: readonly INodeExecutionData[],
	...fields: Array<'call_id' | 'campaign_upload_id' | 'outcome'>
): void {
	// Older versions of n8n have none.
	if (!('customData' in context)) return;
	const { customData } = context;
	const earlier = customData.getAll();
	for (const field of fields) {
		const known = earlier[field] ?? '';
		let text = known;
		for (const { json } of items) {
			const value = field === 'outcome' && json.timed_out !== false ? '' : plainText(json[field]);
			const longer = compact([text, value]).join(SEPARATOR);
			// Most calls of a large execution don't fit any more.
			if (longer.length > MAX_CHARACTERS || text.split(SEPARATOR).includes(value)) continue;
			text = longer;
		}
		if (text !== known) customData.set(field, text);
	}
}
