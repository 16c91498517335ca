import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NodeSearchEngine } from '@n8n/ai-utilities/node-catalog';
import { z } from 'zod';
import { loader, setupAllNodes } from '../engine';
import { ROOT } from '../engine/sourceLoader';

const CODEX = z.object({ node: z.string(), alias: z.array(z.string()) });

beforeAll(setupAllNodes);

/** As n8n's server has the nodes: with the aliases of their codex files. */
function nodesWithAliases() {
	const files = globSync('nodes/*/*.node.json', { cwd: ROOT }).sort();
	return files.map((file) => {
		const { node, alias } = CODEX.parse(JSON.parse(readFileSync(join(ROOT, file), 'utf8')));
		const description = loader.types.nodes.find(({ name }) => node.endsWith(`.${name}`));
		if (description === undefined) throw new Error(`${file} is for an unknown node`);
		return { ...description, name: node, codex: { alias } };
	});
}

/**
 * Among the nodes of this package. n8n's search scores the best single word, names before aliases. So "call" finds Get
 * Call before Place Call, and n8n's own *Call n8n Workflow Tool* before both.
 */
test.each([
	['ask someone by phone for approval', 'placeCall', 1],
	['add contacts to a calling campaign', 'pushCampaignContacts', 1],
	['phone call', 'placeCall', 1],
	['outbound call', 'placeCall', 1],
	['chat with customer', 'chatSend', 1],
	['call a lead', 'placeCall', 2],
	['wait for call result', 'callCompletedTrigger', 2],
	['do-not-disturb', 'dnd', 1],
	['do not call list', 'dnd', 3],
])("n8n's AI builder that searches for %j finds %s in position %d", (query, name, position) => {
	const found = new NodeSearchEngine(nodesWithAliases()).searchByName(query);
	expect(found[position - 1]?.name).toBe(`n8n-nodes-voice-chat-agent.${name}`);
});

/** In n8n's editor, too, which searches the same names and aliases. */
test.each([
	['telecalling', 'placeCall'],
	['telecaller', 'placeCall'],
	['telemarketing', 'placeCall'],
	['call leads', 'placeCall'],
	['ivr', 'placeCall'],
	['ai call', 'placeCall'],
	['reminder', 'placeCall'],
	['csv', 'pushCampaignContacts'],
	['upload csv', 'pushCampaignContacts'],
	['chatbot', 'chatSend'],
	['opt-out', 'dnd'],
	['do-not-call', 'dnd'],
	['unanswered', 'getCall'],
	['redial', 'getCall'],
])('%j finds %s', (query, name) => {
	const found = new NodeSearchEngine(nodesWithAliases()).searchByName(query);
	expect(found.map((one) => one.name)).toContain(`n8n-nodes-voice-chat-agent.${name}`);
});
