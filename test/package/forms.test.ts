/**
 * Snapshots of each form: defaults, required fields, conditions, choices, and the node's outputs, credentials, and
 * webhooks. Saved workflows depend on them. Check that each difference is intended, then run
 * `npm test -- -u test/package/forms.test.ts`.
 */
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { loader, nodeTypes, PACKAGE, setupEngine } from '../engine';
import { formText, nodeText } from './formText';

expect.addSnapshotSerializer({
	test: (value) => typeof value === 'string',
	serialize: (value) => String(value),
});

beforeAll(setupEngine);

const NODES = [
	'agents',
	'callCompletedTrigger',
	'campaignCallsTrigger',
	'campaignProgressTrigger',
	'campaignStatus',
	'chatDeliveryTrigger',
	'chatEventsTrigger',
	'chatSend',
	'chatSession',
	'dnd',
	'getCall',
	'injectContext',
	'placeCall',
	'pushCampaignContacts',
];

test('checks every node', () => {
	expect(Object.keys(loader.known.nodes).sort()).toEqual(NODES);
});

test.each(NODES)('the form of %s', (name) => {
	const { description } = nodeTypes.getByNameAndVersion(`${PACKAGE}.${name}`);
	expect(nodeText(description)).toMatchSnapshot();
});

test('the form of the credential', () => {
	const { properties } = loader.getCredential(CREDENTIAL).type;
	expect(formText(properties)).toMatchSnapshot();
});
