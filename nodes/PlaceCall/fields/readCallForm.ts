import type { DataExtractionItem } from '../../shared/api/endpoints';
import type { Fields } from '../../shared/n8n/forms/fields';
import { CallDraft, type CallField, type CheckedCall } from './callDraft';
import { callSettings } from './callSettings';
import {
	additionalData,
	additionalDataJson,
	dataExtraction,
	initialGreeting,
} from './conversation';
import { CALL_OPTIONS, webhookUrl } from './options';
import { personName, recipient } from './recipient';
import { when } from './when';

/** Every field that may add to the request, after the recipient, in the order of the form. */
const CALL_FIELDS: CallField[] = [
	personName,
	when,
	initialGreeting,
	dataExtraction,
	additionalData,
	callSettings,
	additionalDataJson,
	...CALL_OPTIONS,
	webhookUrl,
];

/**
 * Reads the call of one item, and checks every documented limit.
 *
 * @param zone the time zone of the workflow
 * @param question the data point of *Ask and Wait*, after those of the form
 * @throws InvalidInput naming all fields to correct
 */
export function readCallForm(
	form: Fields,
	zone: string,
	question?: DataExtractionItem,
): CheckedCall {
	const draft = new CallDraft(zone);
	const collections = [form.collection('options'), form.collection('developerSettings')];
	for (const field of recipient) field.addTo(draft, form);
	for (const field of CALL_FIELDS) {
		// Some fields of one operation are options of the other one.
		const shownIn = [form, ...collections].find((fields) =>
			field.properties.some(({ name }) => fields.has(name)),
		);
		if (shownIn !== undefined) field.addTo(draft, shownIn);
	}
	if (question !== undefined) {
		draft.set('data_extraction', [...(draft.request.data_extraction ?? []), question]);
	}
	return draft.checked();
}
