/** A push reads each field once. A field that differs between rows would silently have the value of the first row. */
import type { INodeProperties } from 'n8n-workflow';
import { pushFields } from '../../../nodes/PushCampaignContacts/properties';
import { engineHarness } from '../../engine';
import {
	accepted,
	respondWith,
	fileItem,
	manyRows,
	phone,
	runPush,
	rowsOf,
	type NodeParameters,
} from './pushHarness';

engineHarness();

/** Two valid values of a field. */
function twoValues({ type, options = [] }: INodeProperties): unknown[] {
	if (type === 'boolean') return [true, false];
	if (type === 'number') return [7, 8];
	if (type === 'json') return [{ source: 'a' }, { source: 'b' }];
	const values = options.flatMap((option) => ('value' in option ? [option.value] : []));
	return values.length > 0 ? values : ['a', 'b'];
}

const optionsOfPush = pushFields
	.flatMap(({ name, options = [] }) => (name === 'options' ? options : []))
	.filter((option) => 'type' in option)
	.filter(({ displayOptions }) => displayOptions?.show?.['@tool'] === undefined)
	// Without an expression, a field has one value for all rows.
	.filter(({ noDataExpression }) => noDataExpression !== true);

describe('in Options', () => {
	test.each(optionsOfPush.map((option) => [option.displayName, option] as const))(
		'%s: nothing is sent if it differs for a later row',
		async (label, option) => {
			const [first, second] = twoValues(option);
			const of = (value: unknown, index: number) => ({
				...fileItem('a.csv', `phone\n${phone(index)}\n`),
				json: { phone: phone(index), person_name: '', a: '', b: '', value: JSON.stringify(value) },
			});
			const { error } = await runPush([of(first, 0), of(first, 1), of(second, 2)], {
				contactsFrom:
					option.displayOptions?.show?.['/contactsFrom'] === undefined ? 'items' : 'csv',
				options: { [option.name]: '={{ JSON.parse($json.value) }}' },
			});
			expect(error).toMatchObject({
				message: `'${label}' differs between rows (row 1 and row 3), so nothing was sent`,
				description: `A push has one value of '${label}' for all rows, such as the name of a column. Enter a fixed value. Or split the rows first, for example with a Switch or Loop Over Items node.`,
			});
		},
	);

	test('a value that is the same for all rows is used', async () => {
		const bodies = respondWith([200, accepted(2)]);
		const rows = manyRows(2).map(({ json }) => ({ json: { ...json, sheet: 'leads' } }));
		const developerSettings = { additionalBodyFields: '={ "source": "{{ $json.sheet }}" }' };
		expect((await runPush(rows, { developerSettings })).error).toBeUndefined();
		expect(bodies).toMatchObject([{ source: 'leads' }]);
	});

	test('a value of a later row that cannot be read is reported', async () => {
		const rows = rowsOf({ phone: phone(0), skip: false }, { phone: phone(1), skip: 'maybe' });
		const { error } = await runPush(rows, { options: { skipPushedBefore: '={{ $json.skip }}' } });
		expect(error?.message).toBe(
			"'Skip Numbers Pushed Before' in 'Options' must be true or false (got \"maybe\")",
		);
	});
});

describe('in the form', () => {
	const rows = rowsOf(
		{ phone: phone(0), column: 'phone', campaign: 42, agent: 'agent_x-1', todo: 'wait' },
		{ phone: phone(1), column: 'campaign', campaign: 43, agent: 'agent_y', todo: 'release' },
	);
	const lastName = (value: string) => ({
		personNameColumn: 'column',
		options: { lastNameColumn: value },
	});

	test.each<[string, NodeParameters]>([
		['Campaign', { campaignId: '={{ $json.campaign }}' }],
		['Campaign', { campaignId: '=4{{ $itemIndex }}' }],
		['Agent', { agentUuid: { __rl: true, mode: 'id', value: '={{ $json.agent }}' } }],
		['What to Do', { whatToDo: '={{ $json.todo }}' }],
		['Phone Column', { phoneColumn: '={{ $json.column }}' }],
		['Person Name Column', { personNameColumn: '={{ $json.column }}' }],
		['Columns to Send', { otherColumns: 'listed', columnsToSend: '={{ [$json.column] }}' }],
		['Last Name Column', lastName('={{ $json.column }}')],
	])('%s: nothing is sent if it differs for a later row', async (label, parameters) => {
		const { error } = await runPush(rows, parameters);
		expect(error?.message).toBe(
			`'${label}' differs between rows (row 1 and row 2), so nothing was sent`,
		);
	});
});
