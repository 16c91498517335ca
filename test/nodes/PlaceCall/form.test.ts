import { NodeHelpers, type INode, type INodeParameters, type INodeProperties } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { makeNode, nodeTypes, output, PACKAGE, service } from '../../engine';
import { acceptCalls, faultOf, placeCallHarness } from './placeCallHarness';

const harness = placeCallHarness();

/** The parameters of a stored node in n8n's editor, and the fields that it shows. */
function opened(stored: INodeParameters) {
	const node: INode = makeNode({ type: `${PACKAGE}.placeCall`, name: 'Node', parameters: stored });
	const { description } = nodeTypes.getByNameAndVersion(node.type);
	const properties: INodeProperties[] = description.properties;
	const values =
		NodeHelpers.getNodeParameters(properties, stored, true, false, node, description) ?? {};
	const shown = properties.filter(
		(property) =>
			property.type !== 'hidden' &&
			NodeHelpers.displayParameter(values, property, node, description),
	);
	return { values, shown };
}

const isCollapsed = ({ type }: INodeProperties) =>
	type === 'collection' || type === 'fixedCollection';
const withoutNotices = (properties: INodeProperties[]) =>
	properties.filter(({ type }) => type !== 'notice');
const names = (properties: INodeProperties[]) => properties.map(({ displayName }) => displayName);

test('a new call shows eight fields, and the rest is collapsed', () => {
	const shown = withoutNotices(opened({}).shown);
	const collapsed = shown.filter(isCollapsed);
	expect(names(shown.filter((one) => !isCollapsed(one)))).toEqual([
		'Operation',
		'Agent',
		'Country',
		'Phone Number',
		'Person Name',
		'When to Call',
		'Wait for Completion',
		'Initial Greeting',
	]);
	expect(names(collapsed)).toEqual([
		'Data Extraction',
		'Additional Data',
		'Call Settings',
		'Options',
		'Developer Settings',
	]);
});

test('a new question shows eight fields', () => {
	const shown = withoutNotices(opened({ operation: 'sendAndWait' }).shown);
	expect(names(shown.filter((one) => !isCollapsed(one)))).toEqual([
		'Operation',
		'Agent',
		'Country',
		'Phone Number',
		'Question',
		'Response Type',
		'Counts as Yes',
		'Counts as No',
	]);
	expect(names(shown.filter(isCollapsed))).toEqual([
		'Data Extraction',
		'Additional Data',
		'Call Settings',
		'Options',
		'Developer Settings',
	]);
});

test('a picked date shows a notice about its time zone', () => {
	const { shown } = opened({ when: 'dateTime' });
	expect(names(shown.filter(({ type }) => type === 'notice'))).toContainEqual(
		expect.stringContaining('in the time zone of this workflow'),
	);
});

describe('the wait', () => {
	test('waits with the settings of the form', async () => {
		acceptCalls(1);
		service()
			.get('/v1/call/call-9876543210')
			.reply(200, { success: true, data: { call_id: 'call-9876543210', status: 'busy' } });
		const waits = jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
		const options = { finishedStatuses: 'busy' };
		const settings = { waitForCompletion: 'reading', waitLimit: 1 };
		const run = await harness.place({ ...settings, options });
		waits.mockRestore();
		expect(output(run, 'Node')).toMatchObject([{ json: { status: 'busy', timed_out: false } }]);
	});

	test("doesn't wait by default, and shows the time limit only if it waits", () => {
		expect(opened({}).values).toMatchObject({ waitForCompletion: 'no' });
		expect(opened({}).values).not.toHaveProperty('waitLimit');
		expect(opened({ waitForCompletion: 'webhook' }).values).toMatchObject({
			waitLimit: 2,
			waitLimitUnit: 'hours',
		});
	});

	test('Ask and Wait places no call if the wait has no settings', async () => {
		const ask = { operation: 'sendAndWait', message: 'May we?', yesValues: 'yes', noValues: 'no' };
		const { message } = faultOf(await harness.place({ ...ask, options: { wait: {} } }));
		expect(message).toBe("'Wait for Completion' has no settings, so no call was placed");
	});

	test('the added wait of Ask and Wait has default settings', () => {
		const { values } = opened({
			operation: 'sendAndWait',
			options: { wait: { settings: {} } },
		});
		expect(values.options).toEqual({
			wait: {
				settings: { waitForCompletion: 'webhook', waitLimit: 2, waitLimitUnit: 'hours' },
			},
		});
	});
});
