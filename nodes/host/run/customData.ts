import compact from 'lodash/compact';
import uniq from 'lodash/uniq';
import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { plainText } from '../../core/values/values';

/** By these, a person finds the execution again. Never numbers or names, because everyone sees the list. */
type CustomData = { [name in 'call_id' | 'campaign_upload_id' | 'outcome']?: readonly unknown[] };

/** n8n logs an error for a longer value. */
const MAX_CHARACTERS = 255;

const SEPARATOR = ', ';

/**
 * Adds values to n8n's custom data of the execution, by which n8n filters its list of executions. A name has as many values
 * as fit.
 */
export function addCustomData(
	context: IExecuteFunctions | IWebhookFunctions,
	data: CustomData,
): void {
	// Older versions of n8n have none.
	if (!('customData' in context)) return;
	const { customData } = context;
	const earlier = customData.getAll();
	for (const [name, values] of Object.entries(data)) {
		const known = (earlier[name] ?? '').split(SEPARATOR);
		const text = uniq([...known, ...values.map(plainText)]).reduce((joined, value) => {
			const longer = compact([joined, value]).join(SEPARATOR);
			return longer.length > MAX_CHARACTERS ? joined : longer;
		}, '');
		if (text !== '') customData.set(name, text);
	}
}
