import uniq from 'lodash/uniq';
import type { INodeParameters } from 'n8n-workflow';
import { loader, makeNode, makeWorkflow, nodeTypes, PACKAGE, setupAllNodes } from '../../../engine';
import { keysOf } from '../../../schema/schemas';

beforeAll(setupAllNodes);

/** The subtitle of a node as n8n's editor evaluates it. */
function subtitleOf(name: string, parameters: INodeParameters): unknown {
	const type = `${PACKAGE}.${name}`;
	const workflow = makeWorkflow([makeNode({ name: 'Node', type, parameters })]);
	const node = workflow.getNode('Node');
	const { subtitle } = nodeTypes.getByNameAndVersion(type).description;
	if (node === null) throw new Error('The node is not in its workflow');
	return workflow.expression.getSimpleParameterValue(node, subtitle, 'internal', {});
}

test.each<[string, INodeParameters, string]>([
	['placeCall', { phoneNumber: '98765 43210' }, 'call 98765 43210'],
	['placeCall', { phoneNumber: 9876543210 }, 'call 9876543210'],
	['placeCall', { phoneNumber: '={{ $json.phone }}' }, 'call the number of each item'],
	['placeCall', { when: 'dateTime' }, 'schedule call to the number of each item'],
	['pushCampaignContacts', { campaignId: '42' }, 'check for campaign 42'],
	['pushCampaignContacts', { campaignId: '42', whatToDo: 'wait' }, 'add to campaign 42'],
	['pushCampaignContacts', { campaignId: '=4{{ 2 }}' }, 'check for campaign …'],
	['pushCampaignContacts', { campaignId: '101', whatToDo: 'release' }, 'release to campaign 101'],
	['campaignStatus', { campaignId: '42' }, 'status of campaign 42'],
	['callCompletedTrigger', {}, 'on completed calls'],
	['callCompletedTrigger', { include: ['transcript'] }, 'on completed calls with transcript'],
	['campaignProgressTrigger', { campaignId: '' }, 'progress of campaign …'],
	['chatEventsTrigger', { sessionIds: 's-1, s-2' }, 'on events of s-1, s-2'],
	['chatEventsTrigger', { sessionIds: '={{ 1 }}' }, 'on events of sessions'],
	['chatEventsTrigger', { sessions: 'watched' }, 'on events of watched sessions'],
	['chatSession', { resource: 'watchList', operation: 'unwatch' }, 'stop watching session'],
	['chatSend', { sendBy: 'async' }, 'send message, later reply'],
])('%s %j: %s', (name, parameters, subtitle) => {
	expect(subtitleOf(name, parameters)).toBe(subtitle);
});

test('each operation of a node has its own subtitle', () => {
	const keys = keysOf(loader.types.nodes).filter(({ operation }) => operation !== undefined);
	const subtitles = keys.map(({ node, resource = '', operation = '' }) => ({
		node,
		subtitle: subtitleOf(node, { resource, operation }),
	}));
	expect(subtitles.length).toBeGreaterThan(20);
	expect(subtitles.filter(({ subtitle }) => typeof subtitle !== 'string')).toEqual([]);
	expect(uniq(subtitles.map((each) => JSON.stringify(each)))).toHaveLength(subtitles.length);
});
