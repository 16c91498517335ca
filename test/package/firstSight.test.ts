/** Checks the fields that a form shows when it opens. */
import omit from 'lodash/omit';
import pickBy from 'lodash/pickBy';
import {
	NodeHelpers,
	type INode,
	type INodeParameters,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { nodeTypes, PACKAGE, setupAllNodes } from '../engine';
import type { SchemaKey } from '../schema/schemas';

/** A node, and the values of its form. */
type Form = SchemaKey & INodeParameters;

beforeAll(setupAllNodes);

/** The parameters that the form shows with these values and the defaults of the others. */
function shownIn(description: INodeTypeDescription, { version = 1, ...chosen }: Form) {
	const { name, properties } = description;
	const of = { typeVersion: version };
	const given = pickBy(omit(chosen, 'node'), (value) => value !== undefined);
	const parameters =
		NodeHelpers.getNodeParameters(properties, given, true, false, of, description) ?? {};
	const node: INode = { id: 'id', name, type: name, ...of, position: [0, 0], parameters };
	return properties.filter((property) =>
		NodeHelpers.displayParameter(parameters, property, node, description),
	);
}

function notices(form: Form) {
	const { description } = nodeTypes.getByNameAndVersion(`${PACKAGE}.${form.node}`);
	const shown = shownIn(description, form).filter(({ type }) => type === 'notice');
	return shown.map(({ displayName }) => displayName);
}

test.each<[string[], number]>([
	[[], 1],
	[['message_received'], 1],
	[['mode_changed', 'message_received'], 1],
	[['mode_changed'], 0],
])(
	'with the events %j, %i notice warns that messages of Chat Send start the trigger',
	(types, count) => {
		const shown = notices({ node: 'chatEventsTrigger', sessions: 'listed', eventTypes: types });
		expect(shown).toEqual(Array(count).fill(expect.stringContaining('starts itself endlessly')));
	},
);

const PLACE = { resource: 'call', operation: 'place', whatToDo: 'place' };

test.each<[string, Form]>([
	['calls nobody', { node: 'placeCall', resource: 'call', operation: 'place' }],
	['calls nobody', { node: 'placeCallTool', resource: 'call', operation: 'place' }],
	['places real calls', { node: 'placeCallTool', ...PLACE }],
	['releases contacts', { node: 'pushCampaignContactsTool', whatToDo: 'release' }],
	['nobody is called', { node: 'pushCampaignContactsTool', whatToDo: 'wait' }],
	['tool only checks', { node: 'pushCampaignContactsTool', whatToDo: 'check' }],
	['real phone call', { node: 'placeCall', ...PLACE }],
	['real phone call', { node: 'placeCall', ...PLACE, callLimit: 'day' }],
	['real phone call', { node: 'placeCall', resource: 'call', operation: 'askAndWait' }],
	['real phone calls', { node: 'pushCampaignContacts', whatToDo: 'release' }],
	['nobody is called', { node: 'pushCampaignContacts', whatToDo: 'wait' }],
	['sends nothing', { node: 'pushCampaignContacts', whatToDo: 'check' }],
])('a notice says what one click can start: %s, %j', (words, form) => {
	expect(notices(form)).toEqual([expect.stringContaining(words)]);
});

test.each(['callCompletedTrigger', 'chatDeliveryTrigger', 'chatEventsTrigger'])(
	'a test of %s needs nothing of its form while it listens, and the workflow shows how to cause an event',
	(name) => {
		const { triggerPanel, eventTriggerDescription } = nodeTypes.getByNameAndVersion(
			`${PACKAGE}.${name}`,
		).description;
		expect(eventTriggerDescription).toMatch(/^Waiting for .+ in another workflow/);
		const { executionsHelp } = typeof triggerPanel === 'object' ? triggerPanel : {};
		const helps = typeof executionsHelp === 'object' ? Object.values(executionsHelp) : [];
		expect(helps).toHaveLength(2);
		for (const help of helps) {
			const [test = ''] = help.split('<br />');
			// From this click on, n8n covers the form.
			expect(test).toMatch(/(?:Test URL|ID of a session).+<b>Execute step<\/b>/);
			expect(test.split('Execute step').at(-1)).not.toMatch(/URL|enter|set <b>Sessions/);
		}
	},
);

test('the panel of Campaign Calls Trigger promises the calls of a campaign only where it asks for one', () => {
	const { triggerPanel, properties } = nodeTypes.getByNameAndVersion(
		`${PACKAGE}.campaignCallsTrigger`,
	).description;
	expect(properties.find(({ name }) => name === 'callsOf')?.options).toContainEqual(
		expect.objectContaining({ name: 'All Calls' }),
	);
	expect(triggerPanel).toMatchObject({ header: 'Get completed calls' });
});
