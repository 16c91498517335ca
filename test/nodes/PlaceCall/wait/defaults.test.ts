import { NodeHelpers, type INodeParameters, type INodeProperties } from 'n8n-workflow';
import { makeNode, nodeTypes, PACKAGE } from '../../../engine';
import { faultOf, placeCallHarness } from '../placeCallHarness';

const harness = placeCallHarness();

/** The parameters of a stored node in n8n's editor. */
function opened(stored: INodeParameters) {
	const node = makeNode({ type: `${PACKAGE}.placeCall`, name: 'Node', parameters: stored });
	const { description } = nodeTypes.getByNameAndVersion(node.type);
	const properties: INodeProperties[] = description.properties;
	return NodeHelpers.getNodeParameters(properties, stored, true, false, node, description) ?? {};
}

const BY_DEFAULT = { waitForCompletion: 'webhook', waitLimit: 2, waitLimitUnit: 'hours' };

test("Place doesn't wait by default, and has a time limit only if it waits", () => {
	expect(opened({})).toMatchObject({ waitForCompletion: 'no' });
	expect(opened({})).not.toHaveProperty('waitLimit');
	expect(opened({ waitForCompletion: 'webhook' })).toMatchObject(BY_DEFAULT);
});

test('the added wait of Ask and Wait has default settings, and without settings no call is placed', async () => {
	const ask = { operation: 'sendAndWait', message: 'May we?', yesValues: 'yes', noValues: 'no' };
	const added = opened({ ...ask, options: { wait: { settings: {} } } });
	expect(added.options).toEqual({ wait: { settings: BY_DEFAULT } });
	const { message } = faultOf(await harness.place({ ...ask, options: { wait: {} } }));
	expect(message).toBe("'Wait for Completion' is empty");
});
