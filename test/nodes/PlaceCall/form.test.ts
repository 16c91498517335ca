import { NodeHelpers, type INode, type INodeParameters, type INodeProperties } from 'n8n-workflow';
import { makeNode, nodeTypes, PACKAGE } from '../../engine';
import { faultOf, placeCallHarness } from './placeCallHarness';

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

const names = (properties: INodeProperties[]) => properties.map(({ displayName }) => displayName);

test('a picked date shows a notice about its time zone', () => {
	const { shown } = opened({ when: 'dateTime' });
	expect(names(shown.filter(({ type }) => type === 'notice'))).toContainEqual(
		expect.stringContaining('in the time zone of this workflow'),
	);
});

describe('the wait', () => {
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
		expect(message).toBe("'Wait for Completion' is empty");
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
