import compact from 'lodash/compact';
import uniq from 'lodash/uniq';
import type { IExecuteFunctions, INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';
import { plainText } from '../../core/values/values';

/** n8n logs an error for a longer value. */
const MAX_CHARACTERS = 255;

const SEPARATOR = ', ';

/**
 * Adds fields of these items to n8n's custom data of the execution, by which a person finds it again: as many values of each
 * as fit, and no outcome of a call in progress. Never numbers or names, because everyone sees the list of executions.
 */
export function addCustomData(
	context: IExecuteFunctions | IWebhookFunctions,
	items: readonly INodeExecutionData[],
	...fields: Array<'call_id' | 'campaign_upload_id' | 'outcome'>
): void {
	// Older versions of n8n have none.
	if (!('customData' in context)) return;
	const { customData } = context;
	const earlier = customData.getAll();
	for (const field of fields) {
		const known = items.filter(({ json }) => field !== 'outcome' || json.timed_out === false);
		const values = known.map(({ json }) => plainText(json[field]));
		const all = uniq([...(earlier[field] ?? '').split(SEPARATOR), ...values]);
		const text = all.reduce((joined, value) => {
			const longer = compact([joined, value]).join(SEPARATOR);
			return longer.length > MAX_CHARACTERS ? joined : longer;
		}, '');
		if (text !== '') customData.set(field, text);
	}
}
