import nock from 'nock';
import type { ICredentialDataDecryptedObject, INode, INodeCredentialsDetails } from 'n8n-workflow';
import { clock } from '../../nodes/shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { TestCredentialsHelper } from './credentialsHelper';
import { Deduplicator } from './deduplicator';
import { makeNode, setupEngine } from './engine';
import { PACKAGE } from './nodeTypes';

export const HOST = 'https://voice.example.com';
export const TOKEN = 'tok-0123456789ab';

/** The service as nock plays it, answering only requests that carry the token. */
export const service = (host = HOST) => nock(host, { reqheaders: { 'API-Token': TOKEN } });

export type EngineHarness = {
	credentials: TestCredentialsHelper;
	/** n8n's store, which outlasts executions; empty before each test. */
	store: Deduplicator;
	/** A node of this package with the credential attached. */
	node(type: string, over?: Partial<INode>): INode;
	/** Another credential, e.g. with open details or the simulator's address. */
	addCredential(data: ICredentialDataDecryptedObject): Promise<INodeCredentialsDetails>;
};

// nock takes Node's http over as soon as it is loaded. Unless it gives it back, the next test file of
// the same worker has two nocks, and an error that the inner one plays is caught by nobody.
beforeAll(() => {
	if (!nock.isActive()) nock.activate();
});
afterAll(() => nock.restore());

// A pause that is over leaves a sleep of up to a second behind (`clock.ts`), which must not hold a worker of jest.
beforeAll(() => {
	clock.sleep = async (ms) => {
		await new Promise((resolve) => {
			setTimeout(resolve, ms).unref();
		});
	};
});

/**
 * Sets up the engine for one test file: no request leaves but what nock expects, and every
 * expected request must have come.
 */
export function engineHarness(): EngineHarness {
	const credentials = new TestCredentialsHelper();
	const store = new Deduplicator();
	let details: INodeCredentialsDetails = { id: null, name: CREDENTIAL };

	beforeAll(async () => {
		await setupEngine(store);
		details = await credentials.add(CREDENTIAL, { baseUrl: HOST, apiToken: TOKEN });
		nock.disableNetConnect();
		nock.enableNetConnect(/^(127\.0\.0\.1|localhost)/);
	});
	afterEach(() => {
		store.clear();
		const pending = nock.pendingMocks();
		nock.cleanAll();
		expect(pending).toEqual([]);
	});
	afterAll(() => nock.enableNetConnect());

	return {
		credentials,
		store,
		node: (type, over = {}) =>
			makeNode({
				type: `${PACKAGE}.${type}`,
				name: 'Node',
				credentials: { [CREDENTIAL]: details },
				...over,
			}),
		addCredential: async (data) =>
			await credentials.add(CREDENTIAL, { baseUrl: HOST, apiToken: TOKEN, ...data }),
	};
}
