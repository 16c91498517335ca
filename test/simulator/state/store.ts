import type { Session } from '../chat/types';
import type { Agent, Call, Campaign, DndEntry } from './types';

/** The data of the service. Maps keep the order of creation. */
export class State {
	readonly accountId = 4021;
	readonly agents = new Map<string, Agent>();
	readonly campaigns = new Map<number, Campaign>();
	readonly calls = new Map<string, Call>();
	readonly dnd: DndEntry[] = [];
	readonly sessions = new Map<string, Session>();
	private counter = 5000;

	nextId(): number {
		return ++this.counter;
	}

	/** An agent of the token's account. Agents of other accounts count as unknown. */
	ownAgent(agentUuid: unknown): Agent | undefined {
		if (typeof agentUuid !== 'string') return undefined;
		const agent = this.agents.get(agentUuid);
		return agent?.accountId === this.accountId ? agent : undefined;
	}

	dndPhones(agentUuid: string): Set<string> {
		return new Set(this.dnd.filter((e) => e.agentUuid === agentUuid).map((e) => e.phone));
	}

	clear(): void {
		this.agents.clear();
		this.campaigns.clear();
		this.calls.clear();
		this.dnd.length = 0;
		this.sessions.clear();
		this.counter = 5000;
	}
}
