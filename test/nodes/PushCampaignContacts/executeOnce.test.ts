/** With *Execute Once*, n8n passes only the first of several items to a node. */
import { engineHarness } from '../../engine';
import {
	contactsOf,
	fileItem,
	goOn,
	manyRows,
	ok,
	phone,
	phonesOf,
	respondWith,
	rowsOf,
	runPush,
	type NodeParameters,
} from './pushHarness';

engineHarness();
const ONCE = { executeOnce: true };
const rows = manyRows(3);
const file = (row: number) => fileItem(`${row}.csv`, `phone\n${phone(row)}\n`);
const json = (contacts: string): NodeParameters => ({ contactsFrom: 'json', contacts });

test.each([
	['rows', rows, {}],
	['files', [file(0), file(1), file(2)], { contactsFrom: 'csv' }],
	['contacts in JSON of each item', rows, json('={{ [$json] }}')],
	['rows that differ in a field', rows, { whatToDo: '={{ $json.release }}' }],
])('%s are not pushed without the others', async (_what, input, parameters) => {
	const { error } = await runPush(input, parameters, ONCE);
	expect(error).toMatchObject({
		message: "'Execute Once' is on, so this node would only use the first of 3 items",
		description:
			"Turn it off in 'Settings'. To use only the first item on purpose, add a Limit node before this one.",
	});
});

test('with Continue, the row that n8n passed on is in Rejected with the reason', async () => {
	const { rejected, error } = await runPush(rows, {}, { ...ONCE, ...goOn });
	expect(error).toBeUndefined();
	expect(rejected.map(({ json: row }) => row)).toMatchObject([
		{ phone: phone(0), rejection_status: 'not_sent', error: expect.stringContaining('of 3 items') },
	]);
});

test.each([
	['a single row', rows.slice(0, 1), {}, [0]],
	['a single file', [file(0)], { contactsFrom: 'csv' }, [0]],
	['the same contacts for all items', rows, json(`[{ "phone": "${phone(7)}" }]`), [7]],
	['all items in JSON', rows, json('={{ $input.all().map((item) => item.json) }}'), [0, 1, 2]],
])('%s: nothing is left out, so they are pushed', async (_what, input, parameters, expected) => {
	const bodies = respondWith(ok(expected.length));
	const { error } = await runPush(input, parameters, ONCE);
	expect(error).toBeUndefined();
	expect(bodies.flatMap(phonesOf)).toEqual(expected.map(phone));
});

test('without it, all items in JSON are read once', async () => {
	const bodies = respondWith(ok(2));
	const { pushed } = await runPush(
		rowsOf({ phone: phone(0) }, { phone: phone(1) }),
		json('={{ $input.all().map((item) => item.json) }}'),
	);
	expect(bodies.flatMap(contactsOf)).toHaveLength(2);
	expect(pushed[0]?.json.totals).toMatchObject({ received: 2, duplicate: 0 });
});
