import nock from 'nock';
import type { ICredentialDataDecryptedObject, INode, INodeCredentialsDetails } from 'n8n-workflow';
import { clock } from '../../nodes/host/clock';
import { CREDENTIAL } from '../../nodes/host/http/credential';
import { storedCredentials } from './credentialsHelper';
import { Deduplicator } from './deduplicator';
import { makeNode, setupEngine } from './engine';
import { PACKAGE } from './nodeTypes';

export const HOST = 'https://voice.example.com';
export const TOKEN = 'tok-0123456789ab';

/** The service as a nock scope that responds only to requests with the token. */
export const service = (host = HOST) => nock(host, { reqheaders: { 'API-Token': TOKEN } });

const store = new Deduplicator();
let details: INodeCredentialsDetails = { id: null, name: CREDENTIAL };

export const harness = {
	/** n8n's deduplication store, which outlives executions. Empty before each test. */
	store,
	/** A node of this package with the credential attached. */
	node: (type: string, overrides: Partial<INode> = {}): INode =>
		makeNode({
			type: `${PACKAGE}.${type}`,
			name: 'Node',
			credentials: { [CREDENTIAL]: details },
			...overrides,
		}),
	/** A node with another credential, e.g. with the simulator's URL or a profile. */
	nodeWith: async (
		data: ICredentialDataDecryptedObject,
		type: string,
		overrides: Partial<INode> = {},
	): Promise<INode> => {
		const credentials = { [CREDENTIAL]: await harness.addCredential(data) };
		return harness.node(type, { credentials, ...overrides });
	},
	/** @param id of the one that it replaces */
	addCredential: async (
		data: ICredentialDataDecryptedObject,
		id?: string,
	): Promise<INodeCredentialsDetails> =>
		await storedCredentials.add(
			CREDENTIAL,
			{ baseUrl: HOST, apiToken: TOKEN, moreSettings: true, ...data },
			id,
		),
};

export type EngineHarness = typeof harness;

// nock replaces Node's http when it loads. Without a restore, the next test file of the same worker has
// two nocks, and nothing catches an error that the inner one raises.
beforeAll(() => {
	if (!nock.isActive()) nock.activate();
});
afterAll(() => nock.restore());

// A pause that has ended can leave a timer of up to a second behind (`clock.ts`), which must not keep a jest worker alive.
beforeAll(() => {
	clock.sleep = async (ms) => {
		await new Promise((resolve) => {
			setTimeout(resolve, ms).unref();
		});
	};
});

/**
 * Sets up the engine for one test file. Only requests that nock expects are sent, and each test fails
 * if an expected request wasn't sent.
 */
export function engineHarness(): EngineHarness {
	beforeAll(async () => {
		setupEngine(store);
		details = await storedCredentials.add(CREDENTIAL, {
			baseUrl: HOST,
			apiToken: TOKEN,
			moreSettings: true,
		});
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

	return harness;
}
