import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import type { Consent } from '../../core/calls/consent';
import { InvalidInput } from '../../core/service/errors';
import { onScreenOnly } from '../../core/service/resolution';
import { parseWholeNumber } from '../../core/service/parseIds';
import { clock } from '../clock';
import type { Fields } from './fields';

const MAX_DAYS = 3_650;
const MAX = MAX_DAYS.toLocaleString('en-US');

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
						'The name of the input column with the date on which the person agreed to be called, such as 2026-11-25 or a date cell of a spreadsheet. A date such as 03/04/2026 has two readings, so it counts as unreadable. As a tool, the date is always that of the row, and the model can neither enter it nor choose the number to call.',
				},
				{
					displayName: 'At Most (Days Old)',
					name: 'maxDays',
					type: 'number',
					noDataExpression: true,
					typeOptions: { minValue: 0, maxValue: MAX_DAYS, numberPrecision: 0 },
					default: '',
					required: true,
					placeholder: 'e.g. 180',
					description: `How many days before the call the person may have agreed, from 0 (on the same day) to ${MAX}. Days are those of the time zone of this workflow.`,
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
	const resolution = onScreenOnly(
		`Enter the name of the column and a number of days from 0 to ${MAX}, or remove 'Consent'.`,
	);
	// In a tool, n8n evaluates them, although the form doesn't allow any.
	if (['column', 'maxDays'].some((name) => rule?.expression(name)))
		throw new InvalidInput("'Consent' has an expression, so nothing was sent", resolution);
	const column = rule?.text('column') ?? '';
	if (rule === undefined || column === '')
		throw new InvalidInput(
			"'Consent' needs 'Consent Column' and 'At Most (Days Old)', so nothing was sent",
			resolution,
		);
	const maxDays = parseWholeNumber(rule.number('maxDays', NaN), 'At Most (Days Old)', resolution);
	if (maxDays > MAX_DAYS)
		throw new InvalidInput(`'At Most (Days Old)' is more than ${MAX}`, resolution);
	return { column, maxDays, now: DateTime.fromMillis(clock.now(), { zone }) };
}
