import type {
	INodeType,
	INodeTypeDescription,
	ITriggerFunctions,
	ITriggerResponse,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { enteredOr } from '../host/forms/locatorFields';
import { CREDENTIAL } from '../host/http/credential';
import { nothingToRegister } from '../host/triggers/webhookRequest';
import { activate } from './listener';
import { triggerFields } from './properties';
import { handleWatchRequest } from './watchRequests';

export class ChatEventsTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Chat Agent: Events Trigger',
		name: 'chatEventsTrigger',
		icon: {
			light: 'file:../icons/chat.svg',
			dark: 'file:../icons/chat.dark.svg',
		},
		group: ['trigger'],
		version: 1,
		subtitle: `={{ $parameter["sessions"] === "watched" ? "on events of watched sessions" : "on events of " + ${enteredOr('sessionIds', 'sessions')} }}`,
		description: 'Starts the workflow on events in chat sessions with an AI agent',
		builderHint: {
			searchHint:
				'Starts the workflow for live events of chat sessions, such as a new message, or when a person takes over.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-voice-chat-agent.chatSend',
					relationHint: 'Sends a message in the session',
				},
				{
					nodeType: 'n8n-nodes-voice-chat-agent.chatSession',
					relationHint: 'Lets this trigger watch a session',
				},
			],
		},
		defaults: { name: 'Chat Events Trigger' },
		eventTriggerDescription:
			'Waiting for an event. Write a message in the chat session as the customer, or use Chat Send in another workflow.',
		activationMessage:
			'The workflow now starts on the events of its sessions. If they are watched, add each one with Chat Session > Watch.',
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: CREDENTIAL, required: true }],
		webhooks: [
			{
				name: 'default',
				// Without a method, n8n registers no webhook, so a test in the editor opens the sockets.
				httpMethod: '={{ $parameter["sessions"] === "watched" ? "POST" : "" }}',
				responseMode: 'onReceived',
				path: 'watch',
				ndvHideUrl: '={{ $parameter["sessions"] !== "watched" }}',
			},
		],
		triggerPanel: {
			header: 'Wait for something to happen in a chat',
			executionsHelp: {
				inactive:
					'<b>To test it</b>, set <b>Sessions</b> to <b>Listed</b>, enter the ID of a session, and click <b>Execute step</b>. Then write a message in that session as the customer, or use Chat Send in another workflow. The event appears here.<br /><br /><b>When your workflow is ready</b>, publish it. It then starts on the events of its sessions.',
				active:
					'<b>To test it</b>, set <b>Sessions</b> to <b>Listed</b>, enter the ID of a session, and click <b>Execute step</b>. Then write a message in that session as the customer, or use Chat Send in another workflow. The event appears here.<br /><br /><b>While the workflow is published</b>, it also starts on the events of its sessions.',
			},
			activationHint: 'Publish the workflow to listen all the time.',
		},
		properties: triggerFields,
	};

	// Only Chat Session and other systems of the user post to this URL, so the service doesn't need it.
	webhookMethods = { default: nothingToRegister() };

	async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		return await activate(this);
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await handleWatchRequest(this);
	}
}
