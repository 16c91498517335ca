const { NodeOperationError } = require('n8n-workflow');

// The test files of a worker share n8n's classes, which keep the triggers that are active.
Reflect.deleteProperty(
	NodeOperationError,
	Symbol.for('n8n-nodes-voice-chat-agent.activeTriggers.1'),
);
