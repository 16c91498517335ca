import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import type { Consent } from '../../core/calls/consent';
import { InvalidInput } from '../../core/service/errors';
import { onScreenOnly } from '../../core/service/resolution';
import { parseWholeNumber } from '../../core/service/parseIds';
import { clock } from '../clock';
import type { Fields } from './fields';

/** Without expressions, so that no model decides what counts as consent. */
export const consentField: INodeProperties = {
	displayName: 'Consent',
	name: 'consent',
	type: 'fixedCollection',
	typeOptions: { multipleValues: false },
	default: { rule: {} },
	description:
		"Calls only people whose row has the date on which they agreed. Without a date, or with an older, future, or unreadable one, a person isn't called.",
	options: [
		{
			displayName: 'Consent',
			name: 'rule',
			values: [
				{
					displayName: 'Consent Column',
					name: 'column',
					type: 'string',
					noDataExpression: true,
					default: '',
					required: true,
					placeholder: 'e.g. agreed_on',
					description:
						'The name of the input column with the date on which the person agreed to be called, such as 2026-11-25 or a date cell of a spreadsheet. A date such as 03/04/2026 has two readings, so it counts as unreadable. As a tool, the date is always that of the row, and the model can neither enter it nor choose the number to call. In a sub-workflow that an agent uses as a tool, the model writes the row, so look up the date there in your own data.',
				},
				{
					displayName: 'At Most (Days Old)',
					name: 'maxDays',
					type: 'number',
					noDataExpression: true,
					typeOptions: { minValue: 0, numberPrecision: 0 },
					default: '',
					required: true,
					placeholder: 'e.g. 180',
					description:
						'How many calendar days before the call the person may have agreed, in the time zone of this workflow. With 0, only on the same day.',
				},
			],
		},
	],
};

/**
 * Undefined if the option isn't added.
 *
 * @param zone the time zone of the workflow
 * @throws InvalidInput if it names no column, or no number of days
 */
export function readConsent(options: Fields, zone: string): Consent | undefined {
	if (!options.has(consentField.name)) return undefined;
	const [rule] = options.rows(consentField.name);
	const resolution = onScreenOnly("Enter a name and a whole number, or remove 'Consent'.");
	const invalid = (message: string) =>
		new InvalidInput(`'Consent' ${message}, so nothing was sent`, resolution);
	// In a tool, n8n evaluates them, although the form doesn't allow any.
	if (['column', 'maxDays'].some((name) => rule?.expression(name)))
		throw invalid('has an expression');
	const column = rule?.text('column') ?? '';
	if (rule === undefined || column === '')
		throw invalid("needs 'Consent Column' and 'At Most (Days Old)'");
	const maxDays = parseWholeNumber(rule.number('maxDays', NaN), 'At Most (Days Old)', resolution);
	return { column, maxDays, now: DateTime.fromMillis(clock.now(), { zone }) };
}
