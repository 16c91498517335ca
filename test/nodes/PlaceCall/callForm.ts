import get from 'lodash/get';
import { readCallForm } from '../../../nodes/PlaceCall/fields/readCallForm';
import { place } from '../../../nodes/PlaceCall/operations/place.operation';
import { sendAndWait } from '../../../nodes/PlaceCall/operations/sendAndWait.operation';
import { InvalidInput } from '../../../nodes/shared/api/errors';
import type { CallRequest } from '../../../nodes/shared/api/contractTypes';
import { Fields } from '../../../nodes/shared/n8n/forms/fields';
import { ABSENT } from '../../../nodes/shared/n8n/forms/fieldValue';

type Values = { [name: string]: unknown };

/**
 * The form of an operation with these values, by their paths in the form.
 *
 * @param expressions those that return a value
 */
function formWith(values: Values, operation = place, expressions: Values = {}): Fields {
	const valueAt = (path: string): unknown => get(values, path, ABSENT);
	const raw = (path: string): unknown => get(expressions, path, valueAt(path));
	return new Fields(operation.fields, { raw, value: valueAt });
}

export const questionForm = (values: Values, expressions: Values = {}) =>
	formWith(values, sendAndWait, expressions);

/** The smallest call that the form accepts. */
export const CALL = { agentUuid: 'agent_a1', countryCode: 'IN', phoneNumber: '9876543210' };

export const callWith = (values: Values, zone = 'UTC', expressions: Values = {}) =>
	readCallForm(formWith({ ...CALL, ...values }, place, expressions), zone);

export function requestWith(values: Values): CallRequest {
	return callWith(values).request;
}

/** The message and its resolution. */
export function messageOf(read: () => unknown): string {
	try {
		read();
	} catch (error) {
		if (error instanceof InvalidInput) return `${error.message}. ${error.resolution}`;
		throw error;
	}
	throw new Error('accepted');
}

export const messageFor = (values: Values) => messageOf(() => requestWith(values));
