import { readFileSync } from 'node:fs';
import path from 'node:path';
import { newSession } from '../simulator/chat/lifecycle';
import { ROOT } from '../engine/sourceLoader';
import { dialects, type Dialect } from '../simulator';
import type { Agent } from '../simulator/state/types';

const document = readFileSync(path.join(ROOT, 'docs/service-api.md'), 'utf8');

/** Whether the service's document contains the name as a word. */
export function isDocumented(name: string): boolean {
	return new RegExp(`(?<!\\w)${escaped(name)}(?!\\w)`).test(document);
}

/** Every undocumented name in requests and responses of the dialects. */
export function undocumentedWireNames(): string[] {
	const names = new Set<string>();
	for (const dialect of Object.values<Dialect>(dialects)) {
		collect({ ...dialect, name: '' }, names);
		collect(sampleResponses(dialect), names);
	}
	const parts = new Set([...names].flatMap((name) => name.split('.')));
	return [...parts].filter((name) => /^[\w[\]-]+$/.test(name) && !isDocumented(name)).sort();
}

export const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Sample responses of the dialect, for the names of their fields. */
function sampleResponses({ agents, calls, campaigns, dnd, webhook, chat }: Dialect) {
	const agent: Agent = {
		agentUuid: '',
		name: '',
		accountId: 1,
		active: true,
		number: '',
		postCallAnalysis: true,
	};
	const entry = { id: 1, agentUuid: '', phone: '', reason: '', createdAt: '' };
	const reply = { sessionId: '', turnId: '', messageId: '', reply: '', state: '' };
	const bodies = [
		agents.body([agents.record(agent)]),
		calls.listBody({ items: [], total: 0, size: 1, start: 0, next: 1, link: '' }),
		calls.listItem({}),
		campaigns.extraFields,
		campaigns.dndSkipped('', 0),
		campaigns.warning(''),
		dnd.addBody(entry, {}),
		webhook.body('', {}),
		chat.createBody({}),
		chat.inboundBody({}),
		chat.asyncBody({ turnId: '', messageId: '', replay: false }),
		chat.deliveryBody(reply),
		chat.interactive('', '', ['']),
	];
	const session = newSession(agent, { ...dialects.plain, chat }, 0, '');
	return keysOf([...bodies, chat.supportBody('', session)]);
}

function keysOf(value: unknown): string[] {
	if (typeof value !== 'object' || value === null) return [];
	const own = Array.isArray(value) ? [] : Object.keys(value);
	return [...own, ...Object.values(value).flatMap(keysOf)];
}

function collect(value: unknown, names: Set<string>): void {
	if (typeof value === 'string') names.add(value);
	else if (typeof value === 'object' && value !== null) {
		for (const inner of Object.values(value)) collect(inner, names);
	}
}
